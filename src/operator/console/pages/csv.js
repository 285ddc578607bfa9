/** Saves the rows of a page as a CSV file, with a column for each field of the rows. */
export function saveCsv(name, rows) {
  const fields = [...new Set(rows.flatMap(Object.keys))];
  const lines = [fields, ...rows.map((row) => fields.map((field) => row[field]))];
  const text = lines.map((values) => `${values.map(toCell).join(',')}\r\n`).join('');
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = `${name.toLowerCase().replaceAll(' ', '-')}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A text that a spreadsheet would run as a formula begins with an apostrophe. */
function toCell(value) {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
