/** The roles of operators, least first. Each includes those before it. docs/operations/operators.md says what they may do. */
export const roles = ['reader', 'support', 'admin'] as const;

/** One of `roles`. */
export type Role = (typeof roles)[number];

/** Returns true if an operator with the role `held` may do what needs the role `needed`. Null: the operator has no role. */
export function coversRole(held: Role | null, needed: Role): boolean {
  return held !== null && roles.indexOf(held) >= roles.indexOf(needed);
}

/** Such as `mira` or `mira@example.com`: the names of system users and of OpenID Connect. */
export const operatorNamePattern = '^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,99}$';

export const operatorNameRule =
  'must have 1 to 100 letters, digits and the characters _ . @ + -, and begin with a letter, a digit or _';

const namePattern = new RegExp(operatorNamePattern);

export function isOperatorName(text: string): boolean {
  return namePattern.test(text);
}
