const usualLineLength = 64;

/**
 * Formats JSON for display. Integers keep all digits. A value takes one line if it fits in `lineLengthMax` characters.
 */
export function formatJson(value: unknown, lineLengthMax = usualLineLength, indent = ''): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const [start, end] = isList ? ['[', ']'] : ['{', '}'];
  const members = Object.entries(value).map(
    ([name, member]) => [isList ? '' : `${JSON.stringify(name)}: `, member] as const,
  );
  if (members.length === 0) return start + end;
  const blank = isList ? '' : ' ';
  const line = `${start}${blank}${members.map(([name, member]) => name + formatLine(member)).join(', ')}${blank}${end}`;
  if (indent.length + line.length <= lineLengthMax) return line;
  const deeper = `${indent}  `;
  const lines = members.map(
    ([name, member]) => `${deeper}${name}${formatJson(member, lineLengthMax, deeper)}`,
  );
  return `${start}\n${lines.join(',\n')}\n${indent}${end}`;
}

/** Formats JSON on one line of any length. */
function formatLine(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(formatLine).join(', ')}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${formatLine(member)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
