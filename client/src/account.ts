import { attachResponse, readCallOptions, type WithResponse } from './call.ts';
import { type Account, operations } from './generated.ts';
import type { CallOptions, Transport } from './transport.ts';

export type AccountAnswer = WithResponse<Account>;

export function createGetAccount(send: Transport) {
  return async (options?: CallOptions): Promise<AccountAnswer> => {
    const { signal } = readCallOptions(options);
    const { path } = operations.getAccount;
    return attachResponse(await send({ operation: 'getAccount', path, isExpected: isAccount }, { signal }));
  };
}

function isAccount(value: unknown): value is Account {
  if (typeof value !== 'object' || value === null) return false;
  const { account, plan, key, minute, day, openHolds } = value as Record<string, unknown>;
  const parts = [key, minute, day].every((part) => typeof part === 'object' && part !== null);
  return typeof account === 'string' && typeof plan === 'string' && parts && typeof openHolds === 'bigint';
}
