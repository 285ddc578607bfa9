/** A parameter, header or field of a call. */
export interface Part {
  readonly name: string;
  /** A parameter before it is encoded; a header or a field of a body as it is sent. */
  readonly text: string;
  /** The status that this part alone causes. Null if the part is valid. */
  readonly fault: number | null;
}

export interface Body {
  readonly text: string;
  /** Number of spaces after the text. */
  readonly blanks: number;
  readonly fault: number | null;
  /** `Content-Type` and `Content-Encoding`, if they are sent. */
  readonly headers: readonly Part[];
}
