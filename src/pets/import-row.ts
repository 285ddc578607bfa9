/** A row of a file: the line in which it begins, and what may be a NewPet or the rule of the format that it breaks. */
export type Row =
  | { readonly line: number; readonly candidate: unknown }
  | { readonly line: number; readonly brokenRule: string };

/** The rule that a row breaks whose bytes are no UTF-8. */
export const notUtf8Rule = 'must be UTF-8';
