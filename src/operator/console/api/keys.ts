import Type from 'typebox';
import { type PagedAccount, selectAccount, toPagedAccount } from '../../../accounts/account-rows.ts';
import { NewKeySchema, overlapSecondsMax } from '../../../accounts/schemas.ts';
import { secondMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { wholeNumberField } from '../../../schema.ts';
import { defineConsoleOperation } from '../operation.ts';
import type { ConsoleServices } from '../services.ts';
import { pageRows } from './fields.ts';

/** Returns the account with this name. Throws `not_found` if it does not exist. */
export async function findAccount(
  { database, clock }: Pick<ConsoleServices, 'database' | 'clock'>,
  name: string | undefined,
): Promise<PagedAccount> {
  const [row] = await database.read(selectAccount, { name: name ?? '' });
  if (row === undefined) throw new AppError('not_found', 'there is no account with this name');
  return toPagedAccount(row, clock());
}

/** Creates a key for an account. Only this response contains the text of the key. */
const createKey = defineConsoleOperation({
  method: 'POST',
  path: '/accounts/{account}/keys',
  body: NewKeySchema,

  async handle({ params, body: { name = null, scopes, expiresInSeconds }, signedIn }, services) {
    const { account } = await findAccount(services, params['account']);
    const lifetimeMs = expiresInSeconds === undefined ? null : Number(expiresInSeconds) * secondMs;
    const { keyring } = services.actAs(signedIn);
    const issued = await keyring.issue({ account, plan: null, name, scopes, lifetimeMs });
    return { id: issued.id, key: issued.key };
  },
});

/** Replaces a key with a new one. The old key stays valid for `overlapSeconds`. */
const rotateKey = defineConsoleOperation({
  method: 'POST',
  path: '/keys/{keyId}/rotate',
  body: Type.Object({
    overlapSeconds: wholeNumberField('How long the old key stays valid.', {
      minimum: 0,
      maximum: overlapSecondsMax,
    }),
  }),

  async handle({ params: { keyId = '' }, body: { overlapSeconds }, signedIn }, { actAs }) {
    const issued = await actAs(signedIn).keyring.rotate(keyId, Number(overlapSeconds) * secondMs);
    return { id: issued.id, key: issued.key, oldEndsAtMs: issued.oldEndsAtMs };
  },
});

/** Revokes a key. With `disableWebhooks`, also disables the webhooks that the key created. */
const revokeKey = defineConsoleOperation({
  method: 'POST',
  path: '/keys/{keyId}/revoke',
  body: Type.Object({ disableWebhooks: Type.Boolean({ rule: 'must be true or false' }) }),

  async handle({ params: { keyId = '' }, body: { disableWebhooks }, signedIn }, { actAs }) {
    const { keyring, allWebhooks } = actAs(signedIn);
    await keyring.revoke(keyId);
    if (disableWebhooks) await allWebhooks.disableOfKey(keyId);
  },
});

/** Returns a page of the current bans; the ban that expires first comes first. `before` is the `next` of a page. */
const listBans = defineConsoleOperation({
  method: 'GET',
  path: '/bans',
  query: Type.Object({
    before: Type.Optional(Type.String({ pattern: '^\\d{1,15}\\.key_[0-9A-Za-z]{16}$' })),
  }),

  async handle({ query: { before = '0.' } }, { bans, clock }) {
    const [endsAtMs = '', keyId = ''] = before.split('.');
    const page = await bans.listPage(pageRows, { endsAtMs: Number(endsAtMs), keyId });
    const items = page.items.map(({ keyId: id, visibleStart: start, keyName: name, ...ban }) => ({
      ...ban,
      id,
      start,
      name,
    }));
    return {
      items,
      next: page.next && `${page.next.endsAtMs}.${page.next.keyId}`,
      nowMs: clock(),
    };
  },
});

const liftBan = defineConsoleOperation({
  method: 'POST',
  path: '/keys/{keyId}/lift-ban',

  async handle({ params: { keyId = '' }, signedIn }, { actAs }) {
    await actAs(signedIn).bans.lift(keyId);
  },
});

export const keyOperations = [createKey, rotateKey, revokeKey, listBans, liftBan];
