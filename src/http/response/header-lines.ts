import { validateHeaderName, validateHeaderValue } from 'node:http';

/** Header values by lower-case name. */
export type HeaderTexts = Readonly<Record<string, string>>;

/**
 * Writes headers as lines. Throws TypeError if HTTP does not allow a name or value (RFC 9110, section 5). So the lines
 * need no further check.
 */
export function toLines(headers: HeaderTexts): string {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** Returns names and values alternately, as `ServerResponse.writeHead` expects them. */
export function splitLines(lines: string): string[] {
  return lines
    .split('\r\n')
    .slice(0, -1)
    .flatMap((line) => {
      const end = line.indexOf(': ');
      return [line.slice(0, end), line.slice(end + 2)];
    });
}
