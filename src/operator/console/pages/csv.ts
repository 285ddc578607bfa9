/** Saves the rows of a page as a CSV file, with a column for each field of the rows. */
export function saveCsv(name: string, rows: readonly object[]): void {
  const records = rows.map((row) => new Map<string, unknown>(Object.entries(row)));
  const fields = [...new Set(records.flatMap((record) => [...record.keys()]))];
  const lines = [fields, ...records.map((record) => fields.map((field) => record.get(field)))];
  const text = lines.map((values) => `${values.map(toCell).join(',')}\r\n`).join('');
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = `${name.toLowerCase().replaceAll(' ', '-')}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A text that a spreadsheet would run as a formula begins with an apostrophe. */
function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
