import { findLink } from './links.ts';
import { type OperationName, operations } from './operations.ts';

/** That an operation is to go. */
export interface Deprecation {
  readonly operation: OperationName;
  /** Since when it is deprecated; null where the service does not tell. */
  readonly since: Date | null;
  /** When it is removed; null where the service does not tell. */
  readonly removedAt: Date | null;
  /** The address that serves instead, as the service writes it; null where it does not tell. */
  readonly successor: string | null;
  /** The same as a sentence. */
  readonly message: string;
}

/** Looks at the headers of an answer, and tells of a deprecated operation the first time. */
export type DeprecationWatch = (operation: OperationName, headers: Headers) => void;

export function createDeprecationWatch(tell: (deprecation: Deprecation) => void): DeprecationWatch {
  const told = new Set<OperationName>();

  return (operation, headers) => {
    const deprecated = headers.get('deprecation');
    if (deprecated === null || told.has(operation)) return;
    told.add(operation);
    tell(readDeprecation(operation, deprecated, headers));
  };
}

/** The forms of RFC 9745 (`@` and Unix seconds) and RFC 8594 (a date of HTTP). */
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
