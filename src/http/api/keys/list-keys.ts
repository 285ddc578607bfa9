import Type from 'typebox';
import { KeySchema } from '../../../accounts/key.ts';
import { after } from '../../../soon.ts';
import { defineOperation } from '../../operation.ts';
import { cursorField, defaultLimit, invalidCursor, limitField, limitMax } from '../page-query.ts';
import { listedKey } from './examples.ts';

const cursorRule = 'must be copied from the Link of a page of keys';

const ListKeysQuery = Type.Object({
  limit: Type.Optional(limitField('keys')),
  cursor: Type.Optional(cursorField(cursorRule, 'BWtleV8za1RNZDhmWnExTHhXMGFCd4Bq0x3mLk9sVg')),
});

/** `GET /keys`: returns a page of the keys of the account (contract section 15). */
export const listKeys = defineOperation({
  id: 'listKeys',
  method: 'GET',
  path: '/keys',
  tag: 'keys',
  scope: 'keys:manage',
  stability: 'beta',
  summary: 'List keys',
  description:
    'Returns a paginated list of the keys of the account, newest first, without their text. Deleted keys are not listed. Follow the `Link` with `rel="next"` until there is none.',
  query: ListKeysQuery,
  answers: {
    200: {
      description: 'A page of keys.',
      body: Type.Array(KeySchema, { maxItems: limitMax }),
      headers: ['Link'],
      examples: { page: { summary: 'One key', value: [listedKey] } },
    },
  },

  handle({ query: { limit = defaultLimit, cursor }, caller }, { accountKeys, cursors, baseUrl }) {
    const list = `/keys?of=${caller.accountId}`;
    const firstId = cursor === undefined ? null : cursors.readText(cursor, list);
    if (cursor !== undefined && firstId === null) throw invalidCursor(cursorRule);
    return after(accountKeys.list(caller.accountId, limit, firstId), ({ keys, nextId }) => {
      if (nextId === null) return { status: 200, body: keys };
      const next = `${baseUrl}/keys?limit=${limit}&cursor=${cursors.writeText(list, nextId)}`;
      return { status: 200, body: keys, headers: { link: `<${next}>; rel="next"` } };
    });
  },
});
