const numbers = new Intl.NumberFormat('en-US');

/** Formats a number, or the digits of an int64, with thousands separators. Returns a dash for null. */
export function formatNumber(value: number | `${bigint}` | null): string {
  if (value === null) return '–';
  return numbers.format(typeof value === 'number' ? value : BigInt(value));
}

/** Formats a size: `12.0 MiB` or `1.5 GiB`. Returns a dash for null. */
export function formatBytes(bytes: number | null): string {
  if (bytes === null) return '–';
  const mebibytes = bytes / 2 ** 20;
  return mebibytes < 1_024 ? `${mebibytes.toFixed(1)} MiB` : `${(mebibytes / 1_024).toFixed(1)} GiB`;
}

/** Returns a number with its noun: `1 key`, `2 keys`. */
export function countThings(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** Formats a time in UTC, to the second. `time` is RFC 3339 or Unix milliseconds. Returns a dash for null. */
export function formatTime(time: string | number | null): string {
  if (time === null) return '–';
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** Returns the day of a time in UTC: `2027-01-11`. */
export function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns the time left until `time`, in its two largest units: `1 h 20 min`. */
export function formatTimeLeft(time: string | number, nowMs: number): string {
  return formatSpan(new Date(time).getTime() - nowMs);
}

/** Formats milliseconds in the two largest units: `1 h 20 min`. */
export function formatSpan(ms: number): string {
  let seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts: string[] = [];
  for (const [length, unit] of units) {
    const count = Math.floor(seconds / length);
    if (count > 0) parts.push(`${count} ${unit}`);
    seconds -= count * length;
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}

/** Rounds to two decimals. From 100 on, rounds to whole numbers. Returns a dash for null. */
export function formatRate(value: number | null): string {
  if (value === null) return '–';
  return value >= 100 ? formatNumber(Math.round(value)) : String(Math.round(value * 100) / 100);
}

/** Formats milliseconds: in ms below one second, otherwise in s. Returns a dash for null. */
export function formatDuration(ms: number | null): string {
  if (ms === null) return '–';
  return ms >= 1000 ? `${Math.round(ms / 10) / 100} s` : `${Math.round(ms * 100) / 100} ms`;
}
