/** Returns whole milliseconds since the Unix epoch. Tests pass a clock that they move. */
export type Clock = () => number;

/** The clock of this machine. It may be set back at any time. */
export const systemClock: Clock = Date.now;

/** A second in milliseconds. */
export const secondMs = 1000;
/** A minute in milliseconds. */
export const minuteMs = 60 * secondMs;
/** An hour in milliseconds. */
export const hourMs = 60 * minuteMs;
/** A day of 86,400 s in milliseconds. */
export const dayMs = 24 * hourMs;
