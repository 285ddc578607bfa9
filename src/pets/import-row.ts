/** A row of a file with its first line: a candidate for a NewPet, or the rule of the format that it breaks. */
export type Row =
  | { readonly line: number; readonly candidate: unknown }
  | { readonly line: number; readonly brokenRule: string };

/** The rule that a row with invalid UTF-8 breaks. */
export const notUtf8Rule = 'must be UTF-8';
