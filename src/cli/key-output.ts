import { isOfEnvironment, keyEnvironmentOf } from '../accounts/api-key.ts';
import type { IssuedKey, ListedKey } from '../accounts/keyring.ts';
import { environments } from '../config.ts';
import { formatTime, toIsoTime, writeJson, writeLine, writeTable } from './output.ts';
import type { Terminal } from './terminal.ts';

/** Shows a key that has just been made: the only time that its text is to be had. */
export function writeIssuedKey(terminal: Terminal, issued: IssuedKey, json?: true): void {
  const { id, key, account, plan, scopes, expiresAtMs } = issued;
  if (json) {
    writeJson(terminal, { id, key, account, plan, scopes, expiresAt: toIsoTime(expiresAtMs) });
    return;
  }
  writeLine(terminal, `key      ${key}`);
  writeLine(terminal, `id       ${id}`);
  writeLine(terminal, `account  ${account}`);
  writeLine(terminal, `plan     ${plan}`);
  writeLine(terminal, `scopes   ${scopes.join(', ')}`);
  writeLine(terminal, `expires  ${formatTime(expiresAtMs)}`);
  writeLine(terminal, `works in ${environmentOf(key)} (ENVIRONMENT) alone`);
  writeLine(terminal, '');
  writeLine(terminal, 'Keep the key now: it is not stored and cannot be shown again.');
}

/** The environment that stands in the text of a key. */
function environmentOf(key: string): string {
  const found = environments.find((environment) => isOfEnvironment(key, keyEnvironmentOf[environment]));
  return found ?? 'no environment';
}

const headings = ['ID', 'KEY', 'ACCOUNT', 'PLAN', 'STATE', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED'];

export function writeKeys(terminal: Terminal, keys: readonly ListedKey[], json?: true): void {
  if (json) writeJson(terminal, keys.map(toJson));
  else writeTable(terminal, headings, keys.map(toRow));
}

function toJson({ visibleStart, createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs, ...key }: ListedKey) {
  return {
    ...key,
    start: visibleStart,
    createdAt: toIsoTime(createdAtMs),
    expiresAt: toIsoTime(expiresAtMs),
    revokedAt: toIsoTime(revokedAtMs),
    lastUsedAt: toIsoTime(lastUsedAtMs),
  };
}

function toRow(key: ListedKey): string[] {
  return [
    key.id,
    `${key.visibleStart}…`,
    key.account,
    key.plan,
    key.state,
    key.scopes.join(','),
    formatTime(key.createdAtMs),
    formatTime(key.expiresAtMs),
    formatTime(key.lastUsedAtMs),
  ];
}
