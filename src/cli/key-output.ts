import { isOfEnvironment, keyEnvironmentOf } from '../accounts/api-key.ts';
import type { IssuedKey, ListedKey, SuccessorKey } from '../accounts/keyring.ts';
import { environments } from '../config.ts';
import { formatTime, toIsoTime, writeJson, writeLine } from './output.ts';
import { type Column, writeColumns } from './table.ts';
import type { Terminal } from './terminal.ts';

export function writeIssuedKey(
  terminal: Terminal,
  issued: IssuedKey & Partial<SuccessorKey>,
  json?: true,
): void {
  const { id, name, key, account, plan, scopes, expiresAtMs, oldEndsAtMs = null } = issued;
  if (json) {
    const old = oldEndsAtMs === null ? {} : { oldKeyEndsAt: toIsoTime(oldEndsAtMs) };
    writeJson(terminal, { id, name, key, account, plan, scopes, expiresAt: toIsoTime(expiresAtMs), ...old });
    return;
  }
  writeLine(terminal, `key      ${key}`);
  writeLine(terminal, `id       ${id}`);
  if (name !== null) writeLine(terminal, `name     ${name}`);
  writeLine(terminal, `account  ${account}`);
  writeLine(terminal, `plan     ${plan}`);
  writeLine(terminal, `scopes   ${scopes.join(', ')}`);
  writeLine(terminal, `expires  ${formatTime(expiresAtMs)}`);
  writeLine(terminal, `works only with ENVIRONMENT=${environmentOf(key)}`);
  if (oldEndsAtMs !== null) writeLine(terminal, `the old key works until ${toIsoTime(oldEndsAtMs)}`);
  writeLine(terminal, '');
  writeLine(terminal, 'Copy the key now: it is not stored and cannot be shown again.');
}

/** Returns the environment in the text of a key. */
function environmentOf(key: string): string {
  const found = environments.find((environment) => isOfEnvironment(key, keyEnvironmentOf[environment]));
  return found ?? 'no environment';
}

export const keyColumns: readonly Column<ListedKey>[] = [
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'KEY', cell: ({ visibleStart }) => `${visibleStart}…`, leavesAt: 3 },
  { heading: 'NAME', cell: ({ name }) => name ?? '-', leavesAt: 2 },
  { heading: 'ACCOUNT', cell: ({ account }) => account },
  { heading: 'PLAN', cell: ({ plan }) => plan, leavesAt: 5 },
  { heading: 'STATE', cell: describeState },
  { heading: 'SCOPES', cell: ({ scopes }) => scopes.join(','), leavesAt: 7 },
  { heading: 'CREATED', cell: ({ createdAtMs }) => formatTime(createdAtMs), leavesAt: 6 },
  { heading: 'EXPIRES', cell: ({ expiresAtMs }) => formatTime(expiresAtMs), leavesAt: 4 },
  { heading: 'LAST USED', cell: ({ lastUsedAtMs }) => formatTime(lastUsedAtMs), leavesAt: 1 },
];

function describeState({ state, bannedUntilMs }: ListedKey): string {
  return bannedUntilMs === null ? state : `${state} until ${formatTime(bannedUntilMs)}`;
}

export function writeKeys(terminal: Terminal, keys: readonly ListedKey[], json?: true): void {
  if (json) writeJson(terminal, keys.map(keyToJson));
  else writeColumns(terminal, keyColumns, keys);
}

export function keyToJson(listed: ListedKey) {
  const { visibleStart, createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs, bannedUntilMs, ...key } = listed;
  return {
    ...key,
    start: visibleStart,
    createdAt: toIsoTime(createdAtMs),
    expiresAt: toIsoTime(expiresAtMs),
    revokedAt: toIsoTime(revokedAtMs),
    lastUsedAt: toIsoTime(lastUsedAtMs),
    bannedUntil: toIsoTime(bannedUntilMs),
  };
}
