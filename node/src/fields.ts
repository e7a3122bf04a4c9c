/** From options as people write them to what the native half takes, and from its refusals to errors. */

import { ConfigError } from "./errors.js";
import { type ConfigName, type Failure, native, type OptionList } from "./native.js";

function camel(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

const NAMES = new Map(
  Object.entries(native.fields()).map(([config, names]) => [config, new Map(names.map((name) => [camel(name), name]))]),
);

/** Refuses an option that a function does not have: one that is misspelt would be missed in silence. */
export function known(what: string, options: object, names: ReadonlySet<string>): void {
  for (const name in options) {
    if (names.has(name)) continue;
    const allowed = [...names].join(", ");
    throw new ConfigError(`${what} has no option ${name}; it has ${allowed}`, name, Reflect.get(options, name), allowed);
  }
}

/** The native half's list of options. `own` are names that the TypeScript half looks after itself. */
export function optionList(config: ConfigName, options: object, own: ReadonlySet<string>): OptionList {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${config}: options are an object, such as { name: "payments" }`);
  }
  const names = NAMES.get(config)!;
  const list: OptionList = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || own.has(name)) continue;
    const field = names.get(name);
    if (field === undefined) {
      const allowed = [...names.keys(), ...own].join(", ");
      throw new ConfigError(`${config} has no option ${name}; it has ${allowed}`, name, value, allowed);
    }
    list.push(field, value);
  }
  return list;
}

/** Throws what the native half refused with. */
export function thrown(failure: Failure, options: object): never {
  if (failure.field === undefined) throw new Error(failure.error);
  const field = camel(failure.field);
  const value = (options as Record<string, unknown>)[field];
  throw new ConfigError(failure.error, field, value, failure.allowed ?? "");
}

/** A name, where one is given. */
export function nameOf(value: unknown, field: string): string | undefined {
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  const allowed = "text that is not empty";
  throw new ConfigError(`${field}: this value is not allowed; allowed is ${allowed}`, field, value, allowed);
}
