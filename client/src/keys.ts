import { attachResponse, isDeleted, readCallOptions, type WithResponse, writeBody } from './call.ts';
import { argumentError } from './errors.ts';
import {
  type ApiKey,
  type ApiKeyRotation,
  type IssuedApiKey,
  type ListKeysQuery,
  type NewApiKey,
  operations,
} from './generated.ts';
import { createLists, type Page } from './page.ts';
import type { CallOptions, Transport } from './transport.ts';

export type IssuedApiKeyAnswer = WithResponse<IssuedApiKey>;

export interface KeysListOptions extends ListKeysQuery, CallOptions {}

export interface KeysListAllOptions extends Omit<KeysListOptions, 'cursor'> {}

/** The API keys of the account. All methods need `keys:manage`. A method that fails rejects with AnimalStoreError. */
export interface Keys {
  /** Returns one page, newest keys first. The default `limit` is 20. */
  list(options?: KeysListOptions): Promise<Page<ApiKey>>;
  /** Yields all keys. Requests one page after the other. */
  listAll(options?: KeysListAllOptions): AsyncGenerator<ApiKey, void, undefined>;
  /**
   * Creates a key. Only this response contains its text, in `key`. The call is retried only after a 429, because
   * another retry could create a second key.
   */
  create(newKey: NewApiKey, options?: CallOptions): Promise<IssuedApiKeyAnswer>;
  /**
   * Replaces a key with a new one. The old key stays valid for `overlapSeconds`, by default one day. Like `create`, the
   * call is retried only after a 429.
   */
  rotate(keyId: string, rotation?: ApiKeyRotation, options?: CallOptions): Promise<IssuedApiKeyAnswer>;
  /** Revokes a key. This cannot be undone. */
  delete(keyId: string, options?: CallOptions): Promise<void>;
}

export function createKeys(send: Transport): Keys {
  async function issue(
    operation: 'createKey' | 'rotateKey',
    path: string,
    body: string,
    options?: CallOptions,
  ) {
    const { signal } = readCallOptions(options);
    const call = { operation, path, body, isExpected: isIssuedKey } as const;
    return attachResponse(await send(call, { signal }));
  }

  return {
    ...createLists<ApiKey, KeysListOptions>(send, 'listKeys', { isItem: isKey }),

    create: async (newKey, options) =>
      issue('createKey', operations.createKey.path, writeBody('newKey', newKey), options),

    rotate: async (keyId, rotation = {}, options) =>
      issue('rotateKey', pathOf('rotateKey', keyId), writeBody('rotation', rotation), options),

    async delete(keyId, options) {
      const { signal } = readCallOptions(options);
      const path = pathOf('deleteKey', keyId);
      await send({ operation: 'deleteKey', path, isExpected: isDeleted }, { signal });
    },
  };
}

function pathOf(operation: 'rotateKey' | 'deleteKey', keyId: string): string {
  if (typeof keyId !== 'string' || !/^\w+$/.test(keyId))
    throw argumentError('keyId', 'must be the id of a key, as in key_3kTMd8fZq1LxW0aB');
  return operations[operation].path.replace('{keyId}', keyId);
}

function isKey(value: unknown): value is ApiKey {
  if (typeof value !== 'object' || value === null) return false;
  const { id, start, state, scopes } = value as Record<string, unknown>;
  return [id, start, state].every((text) => typeof text === 'string') && Array.isArray(scopes);
}

function isIssuedKey(value: unknown): value is IssuedApiKey {
  return isKey(value) && 'key' in value && typeof value.key === 'string';
}
