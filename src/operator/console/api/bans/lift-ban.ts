import { defineConsoleOperation } from '../../operation.ts';

export const liftBan = defineConsoleOperation({
  method: 'POST',
  path: '/keys/{keyId}/lift-ban',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).bans.lift(params['keyId'] ?? '');
  },
});
