/**
 * The result of a check. A `problem` prevents the service from working as documented. A `warning` does not, but needs
 * attention.
 */
export type Verdict = 'ok' | 'warning' | 'problem';

/** What a check found. Each text is one line. */
export interface Finding {
  /** The subject of the check, such as `store` or `port`. */
  readonly check: string;
  readonly verdict: Verdict;
  /** The state that was found, without secrets. */
  readonly is: string;
  /** What the operator should do, or null. */
  readonly todo: string | null;
}

/** Returns a finding that needs no attention. */
export function ok(check: string, is: string): Finding {
  return { check, verdict: 'ok', is, todo: null };
}

/** Returns a finding that needs attention. `todo` is what the operator should do. */
export function warning(check: string, is: string, todo: string): Finding {
  return { check, verdict: 'warning', is, todo };
}

/** Returns a finding that prevents the service from working as documented. */
export function problem(check: string, is: string, todo: string): Finding {
  return { check, verdict: 'problem', is, todo };
}
