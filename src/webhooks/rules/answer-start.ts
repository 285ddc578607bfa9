/** Maximum number of bytes of an answer that an attempt keeps. */
export const answerBytesMax = 1_000;

/**
 * Returns the start of an answer as text, from its first bytes, of which there are at most `answerBytesMax`. Replaces invalid
 * UTF-8 by U+FFFD. Leaves out a last character that the bound cuts.
 */
export function readAnswerStart(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: bytes.length === answerBytesMax });
}
