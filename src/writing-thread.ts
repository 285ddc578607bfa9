/** The entry of SQLite's writing thread, which imports every module that declares a transaction. */
import './accounts/account-changes.ts';
import './accounts/delete-account.ts';
import './accounts/key-changes.ts';
import './accounts/key-rows.ts';
import './categories/categories.ts';
import './events/expire-events.ts';
import './events/sequence-events.ts';
import './limits/bans.ts';
import './limits/memory/counter-store.ts';
import './operator/sessions.ts';
import './orders/close-order.ts';
import './orders/place-order.ts';
import './pets/catalogue.ts';
import './usage/request-rows.ts';
import './usage/usage.ts';
import './webhooks/attempt-rows.ts';
import './webhooks/change-webhook.ts';
import './webhooks/requested-messages.ts';
import { serveWrites } from './storage/sqlite/writer.ts';

serveWrites();
