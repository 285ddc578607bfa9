import Type from 'typebox';
import { listAccountPage } from '../../../../accounts/account-pages.ts';
import { defineConsoleOperation } from '../../operation.ts';
import { beforeField, pageRows, textFilter } from '../fields.ts';

/** Returns a page of the accounts. The filter `name` matches any part of a name. */
export const listAccounts = defineConsoleOperation({
  method: 'GET',
  path: '/accounts',
  query: Type.Object({ name: textFilter, before: beforeField }),

  async handle({ query: { name = '', before = null } }, { database }) {
    const page = await listAccountPage(database, { limit: pageRows, name, newestId: before });
    const searched = name === '' ? null : page.searched;
    return { items: page.accounts, next: page.nextNewestId, searched };
  },
});
