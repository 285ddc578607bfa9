import Type from 'typebox';
import { defineConsoleOperation } from '../../operation.ts';
import { pageRows } from '../fields.ts';

/** Returns a page of the current bans; the ban that expires first comes first. `before` is the `next` of a page. */
export const listBans = defineConsoleOperation({
  method: 'GET',
  path: '/bans',
  query: Type.Object({
    before: Type.Optional(Type.String({ pattern: '^\\d{1,15}\\.key_[0-9A-Za-z]{16}$' })),
  }),

  async handle({ query: { before = '0.' } }, { bans, clock }) {
    const [endsAtMs = '', keyId = ''] = before.split('.');
    const page = await bans.listPage(pageRows, { endsAtMs: Number(endsAtMs), keyId });
    const items = page.bans.map(({ keyId: id, visibleStart: start, keyName: name, ...ban }) => ({
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
