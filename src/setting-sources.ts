import { readFileSync } from 'node:fs';
import { OperatorError, reasonOf } from './errors.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Settings that are secrets, or contain one, and may also be in the file that `NAME_FILE` names. */
export const secretSettings = [
  'DATABASE_URL',
  'REDIS_URL',
  'WEBHOOK_SECRET_KEY',
  'CONSOLE_USER_SECRET',
] as const;

/**
 * Returns the variables with the secrets of their files, as container images have them: `REDIS_URL_FILE` names a file with
 * the value of `REDIS_URL`. White space at its end does not count. Throws one OperatorError that lists every file that
 * is empty or cannot be read, and every setting with both forms.
 */
export function readSecretFiles(variables: Variables): Variables {
  const problems: string[] = [];
  const read: Record<string, string> = {};
  for (const name of secretSettings) {
    const file = variables[`${name}_FILE`];
    if (!file) continue;
    if (variables[name]) problems.push(`${name} and ${name}_FILE are both set`);
    try {
      const secret = readFileSync(file, 'utf8').trimEnd();
      if (secret === '') problems.push(`${name}_FILE names an empty file`);
      read[name] = secret;
    } catch (error) {
      problems.push(`${name}_FILE cannot be read: ${reasonOf(error)}`);
    }
  }
  if (problems.length > 0) throw new OperatorError(`wrong settings: ${problems.join('; ')}`);
  return { ...variables, ...read };
}

/** Lists the files with secrets that the variables name. */
export function listSecretFiles(variables: Variables): string[] {
  return secretSettings.flatMap((name) => variables[`${name}_FILE`] || []);
}

/** A variable that is not a setting and looks like one. */
export interface Misnamed {
  readonly variable: string;
  /** The setting that is probably meant. */
  readonly meant: string;
}

/** A variable is taken for a misspelt setting if so many letters differ. Shorter names are like too many others. */
const lettersMax = 2;
const lengthMin = 8;

/** Lists the variables that are no settings and look like one. */
export function listMisnamed(variables: Variables, settings: readonly string[]): Misnamed[] {
  const known = new Set([...settings, ...secretSettings.map((name) => `${name}_FILE`)]);
  const unknown = Object.keys(variables).filter((name) => name.length >= lengthMin && !known.has(name));
  return unknown.flatMap((variable) => {
    const meant = settings.find(
      (name) =>
        name.length >= lengthMin &&
        Math.abs(name.length - variable.length) <= lettersMax &&
        countEdits(variable, name) <= lettersMax,
    );
    return meant === undefined ? [] : [{ variable, meant }];
  });
}

/** Counts the letters to insert, delete or replace that turn one text into the other (Levenshtein distance). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [index, other] of [...to].entries()) {
      const inserted = (next[index] ?? 0) + 1;
      const deleted = (row[index + 1] ?? 0) + 1;
      const replaced = (row[index] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(inserted, deleted, replaced));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
