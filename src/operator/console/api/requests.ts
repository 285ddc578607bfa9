import Type from 'typebox';
import { hourMs } from '../../../clock.ts';
import { errorCodes } from '../../../errors.ts';
import { enumField } from '../../../schema.ts';
import { listRequests } from '../../../usage/request-rows.ts';
import { defineConsoleOperation } from '../operation.ts';
import { beforeField, pageRows, textFilter } from './fields.ts';

/** Returns a page of the requests that failed or were slow, and all error codes, which the page offers as a filter. */
const listFailedRequests = defineConsoleOperation({
  method: 'GET',
  path: '/requests',
  query: Type.Object({
    account: textFilter,
    key: textFilter,
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    code: Type.Optional(enumField(errorCodes, 'The code of the error.')),
    hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 168 })),
    id: textFilter,
    before: beforeField,
  }),

  async handle({ query }, { accounts, database, clock }) {
    const { account, key: keyId, status, code, hours, id: requestId, before = null } = query;
    const accountId = account === undefined ? undefined : await accounts.findId(account);
    const sinceMs = hours === undefined ? undefined : clock() - hours * hourMs;
    const filter = { accountId, keyId, status, code, sinceMs, requestId };
    const page = await listRequests(database, { ...filter, limit: pageRows, newestId: before });
    return { ...page, codes: errorCodes };
  },
});

export const requestOperations = [listFailedRequests];
