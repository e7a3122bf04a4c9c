export { ManualClock } from "./testing.js";
