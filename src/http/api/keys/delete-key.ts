import { defineOperation } from '../../operation.ts';
import { KeyParams } from './key-id.ts';

/** `DELETE /keys/{keyId}`: revokes a key (contract section 15). */
export const deleteKey = defineOperation({
  id: 'deleteKey',
  method: 'DELETE',
  path: '/keys/{keyId}',
  tag: 'keys',
  scope: 'keys:manage',
  stability: 'beta',
  summary: 'Delete a key',
  description:
    'Ends a key of the account for good; the calling key may delete itself. It takes effect within 2 s, 5 s across instances. A deleted key is no longer listed.',
  params: KeyParams,
  answers: { 204: { description: 'The key is deleted.' } },
  failures: ['not_found'],

  async handle({ params: { keyId = '' }, caller }, { accountKeys }) {
    await accountKeys.remove(caller, keyId);
    return { status: 204 };
  },
});
