import type { ApiKey, ApiKeyRotation, IssuedApiKey, ListKeysQuery, NewApiKey } from './generated.ts';
import type { CallOperation, WithResponse } from './operation-call.ts';
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

export function createKeys(call: CallOperation, send: Transport): Keys {
  return {
    ...createLists<'listKeys', KeysListOptions>(send, 'listKeys'),
    create: (newKey, options) => call('createKey', { body: newKey }, options),
    rotate: (keyId, rotation = {}, options) => call('rotateKey', { id: keyId, body: rotation }, options),
    delete: (keyId, options) => call('deleteKey', { id: keyId }, options),
  };
}
