import type { Environment } from '../config.ts';
import { foreignKeysMax } from '../storage/inspection.ts';
import { type Finding, warning } from './finding.ts';

/** Warns of keys of other environments, because a key works only in its own environment (contract section 5). */
export function checkKeys(foreignKeys: readonly string[], environment: Environment): Finding[] {
  if (foreignKeys.length === 0) return [];
  const more = foreignKeys.length === foreignKeysMax ? ' and maybe more' : '';
  const is = `keys of another environment do not work in ${environment}: ${foreignKeys.join(', ')}${more}`;
  return [
    warning(
      'keys',
      is,
      'create new keys with "keys create", or set ENVIRONMENT to the environment of these keys',
    ),
  ];
}
