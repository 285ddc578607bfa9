import { type OperationName, operations } from './generated.ts';
import { findLink } from './response-info.ts';

/** An announcement that an operation is deprecated. */
export interface Deprecation {
  readonly operation: OperationName;
  /** Time since which the operation is deprecated. Null if the service does not say. */
  readonly since: Date | null;
  /** Time at which the operation is removed. Null if the service does not say. */
  readonly removedAt: Date | null;
  /** The URL of the replacement, as the service sends it. Null if the service names none. */
  readonly successor: string | null;
  /** The announcement as one line for a log. */
  readonly message: string;
}

/** Reads the headers of a response. Reports each deprecated operation only once. */
export type DeprecationWatch = (operation: OperationName | null, headers: Headers) => void;

export function createDeprecationWatch(report: (deprecation: Deprecation) => void): DeprecationWatch {
  const reported = new Set<OperationName>();

  return (operation, headers) => {
    const deprecated = headers.get('deprecation');
    if (operation === null || deprecated === null || reported.has(operation)) return;
    reported.add(operation);
    report(readDeprecation(operation, deprecated, headers));
  };
}

/** `Deprecation` is `@` and Unix seconds (RFC 9745). `Sunset` is an HTTP date (RFC 8594). */
function readDeprecation(operation: OperationName, deprecated: string, headers: Headers): Deprecation {
  const [, seconds] = /^@(-?\d{1,12})$/.exec(deprecated) ?? [];
  const since = toDate(Number(seconds) * 1000);
  const removedAt = toDate(Date.parse(headers.get('sunset') ?? ''));
  const successor = findLink(headers, 'successor-version');
  const { method, path } = operations[operation];
  const end = removedAt === null ? '' : ` and is removed on ${removedAt.toISOString().slice(0, 10)}`;
  const instead = successor === null ? '' : `; use ${successor} instead`;
  const message = `Animal Store: ${method} ${path} (${operation}) is deprecated${end}${instead}`;
  return { operation, since, removedAt, successor, message };
}

function toDate(ms: number): Date | null {
  return Number.isNaN(ms) ? null : new Date(ms);
}
