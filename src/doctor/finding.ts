/** How a check came out: a warning is worth a look, a problem keeps the service from working as promised. */
export type Verdict = 'ok' | 'warning' | 'problem';

/** What one check found, in a line each. */
export interface Finding {
  /** What was checked: `store`, `port`. */
  readonly check: string;
  readonly verdict: Verdict;
  /** What is; it holds no secret. */
  readonly is: string;
  /** What to do; null where nothing is to be done. */
  readonly todo: string | null;
}

/** A finding of what is as it should be. */
export function ok(check: string, is: string): Finding {
  return { check, verdict: 'ok', is, todo: null };
}

/** A finding that is worth a look, and what to do about it. */
export function warning(check: string, is: string, todo: string): Finding {
  return { check, verdict: 'warning', is, todo };
}

/** A finding that keeps the service from working as promised, and what to do about it. */
export function problem(check: string, is: string, todo: string): Finding {
  return { check, verdict: 'problem', is, todo };
}

/** The message of anything that was thrown, in one line. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
}
