/** What a check found. Each text is one line. */
export interface Finding {
  /** The subject of the check, such as `store` or `port`. */
  readonly check: string;
  /** A `problem` keeps the service from working as documented. A `warning` does not, but needs attention. */
  readonly verdict: 'ok' | 'warning' | 'problem';
  /** The state that was found, without secrets. */
  readonly is: string;
  /** What the operator should do. Null if the verdict is `ok`. */
  readonly todo: string | null;
}

/** Returns a finding that needs no attention. */
export function ok(check: string, is: string): Finding {
  return { check, verdict: 'ok', is, todo: null };
}

/** Returns a finding that needs attention. */
export function warning(check: string, is: string, todo: string): Finding {
  return { check, verdict: 'warning', is, todo };
}

/** Returns a finding that keeps the service from working as documented. */
export function problem(check: string, is: string, todo: string): Finding {
  return { check, verdict: 'problem', is, todo };
}

/** Returns a warning, or an `ok` if there is nothing to do. */
export function warnUnless(isFine: boolean, check: string, is: string, todo: string): Finding {
  return isFine ? ok(check, is) : warning(check, is, todo);
}
