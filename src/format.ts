/** Formats a time as RFC 3339 in UTC with milliseconds. Null stays null. */
export const toTime = (ms: number | bigint | null): string | null =>
  ms === null ? null : new Date(Number(ms)).toISOString();

const mebibyte = 2 ** 20;

/** Returns a size such as `12.0 MiB` or `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  const mebibytes = bytes / mebibyte;
  return mebibytes < 1_024 ? `${mebibytes.toFixed(1)} MiB` : `${(mebibytes / 1_024).toFixed(1)} GiB`;
}
