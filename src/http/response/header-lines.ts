import { validateHeaderName, validateHeaderValue } from 'node:http';

/** Headers by their names in lower case. */
export type HeaderTexts = Readonly<Record<string, string>>;

/**
 * Headers as they are sent, a line each. Throws TypeError for a name or a value that HTTP does not allow (RFC 9110,
 * section 5), so that lines which were made once need no check when they are sent.
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

/** The names and values of lines, by turns, as `ServerResponse.writeHead` takes them. */
export function splitLines(lines: string): string[] {
  return lines
    .split('\r\n')
    .slice(0, -1)
    .flatMap((line) => {
      const end = line.indexOf(': ');
      return [line.slice(0, end), line.slice(end + 2)];
    });
}
