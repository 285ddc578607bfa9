/** Returns whole milliseconds since the Unix epoch. Tests pass a clock that they set. */
export type Clock = () => number;

/** The clock of this machine. It can be set back at any time. */
export const systemClock: Clock = Date.now;

/** One second in milliseconds. */
export const secondMs = 1000;
/** One minute in milliseconds. */
export const minuteMs = 60 * secondMs;
/** One hour in milliseconds. */
export const hourMs = 60 * minuteMs;
/** 24 hours in milliseconds. */
export const dayMs = 24 * hourMs;
