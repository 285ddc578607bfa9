/** Tells the time in whole milliseconds since the Unix epoch. Tests pass one that they move. */
export type Clock = () => number;

export const systemClock: Clock = Date.now;

export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
