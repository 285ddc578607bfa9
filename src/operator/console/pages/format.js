const numbers = new Intl.NumberFormat('en-US');

/** Formats a number with thousands separators. Returns a dash for null and undefined. */
export function formatNumber(value) {
  return value === null || value === undefined ? '–' : numbers.format(value);
}

/** Returns a number with its noun: `1 key`, `2 keys`. */
export function countThings(count, one, many = `${one}s`) {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/**
 * Formats a time in UTC, to the second. `time` is RFC 3339 or Unix milliseconds. Returns a dash for null and undefined.
 */
export function formatTime(time) {
  if (time === null || time === undefined) return '–';
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** Returns the time left until `time`, in its two largest units: `1 h 20 min`. */
export function formatTimeLeft(time, nowMs) {
  return formatSpan(new Date(time).getTime() - nowMs);
}

/** Formats milliseconds in the two largest units: `1 h 20 min`. */
export function formatSpan(ms) {
  let seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [];
  for (const [length, unit] of units) {
    const count = Math.floor(seconds / length);
    if (count > 0) parts.push(`${count} ${unit}`);
    seconds -= count * length;
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}

/** Rounds to two decimals. From 100 on, rounds to whole numbers. */
export function formatRate(value) {
  if (value === null || value === undefined) return '–';
  return value >= 100 ? formatNumber(Math.round(value)) : String(Math.round(value * 100) / 100);
}

/** Formats milliseconds: in ms below one second, otherwise in s. */
export function formatDuration(ms) {
  if (ms === null || ms === undefined) return '–';
  return ms >= 1000 ? `${Math.round(ms / 10) / 100} s` : `${Math.round(ms * 100) / 100} ms`;
}
