import { AppError } from '../../../../errors.ts';
import { computeEtag } from '../../../../etag.ts';
import { readOrderTime } from '../../../../orders/order-time.ts';
import { writePet } from '../../../../pets/pet-tags.ts';
import { everyAccount } from '../../../acts/acts.ts';
import { defineConsoleOperation } from '../../operation.ts';
import { readId } from '../fields.ts';
import { nameCategories } from './name-categories.ts';

const ordersShown = 10;

/** Returns an animal with its entity tag and its newest orders. */
export const showPet = defineConsoleOperation({
  method: 'GET',
  path: '/pets/{petId}',

  async handle({ params }, services) {
    const id = readId(params['petId'], 'animal');
    const found = await services.catalogue.get(id);
    if (found === null) throw new AppError('not_found', 'there is no animal with this identifier');
    const filter = { limit: ordersShown, status: null, petId: id, reference: null, newestId: null };
    const [page, nowMs, pets] = await Promise.all([
      services.orders.list(filter, everyAccount),
      readOrderTime(services.database),
      nameCategories(services, [found]),
    ]);
    return { pet: pets[0], tag: computeEtag(writePet(found)), orders: page.orders, nowMs };
  },
});
