/** The result of a check. A warning deserves a look; a problem keeps the service from working as promised. */
export type Verdict = 'ok' | 'warning' | 'problem';

/** What one check found. Each text is one line. */
export interface Finding {
  /** The subject of the check, such as `store` or `port`. */
  readonly check: string;
  readonly verdict: Verdict;
  /** The state that was found, without secrets. */
  readonly is: string;
  /** What the operator should do, or null. */
  readonly todo: string | null;
}

/** A finding without fault. */
export function ok(check: string, is: string): Finding {
  return { check, verdict: 'ok', is, todo: null };
}

/** A finding that deserves a look, and what to do about it. */
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
