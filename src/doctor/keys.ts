import type { Environment } from '../config.ts';
import { foreignKeysMax } from '../storage/inspection.ts';
import { type Finding, warning } from './finding.ts';

/** Valid keys of other environments: a key works only in the one that stands in it (contract section 5). */
export function checkKeys(foreignKeys: readonly string[], environment: Environment): Finding[] {
  if (foreignKeys.length === 0) return [];
  const more = foreignKeys.length === foreignKeysMax ? ' and maybe more' : '';
  const is = `keys of another environment do not work in ${environment}: ${foreignKeys.join(', ')}${more}`;
  return [warning('keys', is, 'make new ones here with keys create, or set ENVIRONMENT to theirs')];
}
