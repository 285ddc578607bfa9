import { findLink } from './links.ts';
import { type OperationName, operations } from './operations.ts';

/** The announcement that an operation will be removed. */
export interface Deprecation {
  readonly operation: OperationName;
  /** When it became deprecated. Null if the service does not say. */
  readonly since: Date | null;
  /** When it is removed. Null if the service does not say. */
  readonly removedAt: Date | null;
  /** The address of its replacement, as the service writes it. Null if there is none. */
  readonly successor: string | null;
  /** The announcement as a sentence. */
  readonly message: string;
}

/** Reads the headers of an answer and reports each deprecated operation once. */
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

/** Reads the forms of RFC 9745 (`@` and Unix seconds) and RFC 8594 (an HTTP date). */
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
