import { Category } from './animals.js';
import { callApi } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { html } from './html.js';
import { notify } from './notices.js';
import { OrderTable } from './orders.js';
import { Choice, Facts, Field, Loaded, PageHead, State } from './parts.js';
import { useResource } from './resource.js';
import { goTo } from './routing.js';

/** How the page shows a field. It shows other fields as text. */
const views = {
  categoryId: (pet) => html`<${Category} ...${pet} />`,
  status: (pet) => html`<${State} state=${pet.status} />`,
};

export function Animal({ id }) {
  const animal = useResource(`/pets/${encodeURIComponent(id)}`);
  const dialog = useDialog();
  return html`<${Loaded} resource=${animal}>
    ${({ pet, tag, inputs, orders }, now) => {
      const reload = animal.reload;
      const edit = html`<${EditDialog} pet=${pet} tag=${tag} inputs=${inputs} onDone=${reload} />`;
      const remove = html`<${DeleteDialog} pet=${pet} />`;
      return html`<${PageHead} title=${`Animal ${pet.id}`}>
          <button type="button" onClick=${() => dialog.open(edit)}>Edit</button>
          <button type="button" class="danger" onClick=${() => dialog.open(remove)}>Delete</button>
        <//>
        <${Facts}
          facts=${inputs
            .filter(({ field }) => pet[field] !== undefined)
            .map(({ field, label }) => [
              capitalise(label),
              views[field]?.(pet) ?? html`<span class="text">${pet[field]}</span>`,
            ])}
        />
        <section aria-labelledby="orders">
          <h2 id="orders">Newest orders</h2>
          <${OrderTable} orders=${orders} now=${now} onChange=${reload} empty="This animal has no orders." />
        </section>
        ${dialog.shown}`;
    }}
  <//>`;
}

/** Sends only the fields that the operator has changed. */
function EditDialog({ pet, tag, inputs, onClose, onDone }) {
  function act(values) {
    const entered = inputs.map(({ field, isInt64 }) => {
      const value = values[field] ?? '';
      return [field, isInt64 ? value.trim() : value];
    });
    const changed = entered.filter(([field, value]) => value !== (pet[field] ?? ''));
    return callApi('PATCH', `/pets/${pet.id}`, { tag, ...Object.fromEntries(changed) });
  }
  function finish() {
    notify(`The animal ${pet.id} is changed.`);
    onDone();
  }
  return html`<${ActDialog} title=${`Edit the animal ${pet.id}`} label="Save" act=${act} onDone=${finish} onClose=${onClose}>
    ${inputs.map((input) => html`<${PetInput} key=${input.field} input=${input} value=${pet[input.field]} />`)}
  <//>`;
}

function PetInput({ input: { field, label, isInt64, choices }, value }) {
  const id = `edit-${field}`;
  const title = capitalise(label);
  if (choices !== null)
    return html`<${Choice} id=${id} label=${title} name=${field} value=${value} choices=${choices} />`;
  return html`<${Field} id=${id} label=${title}>
    <input id=${id} name=${field} inputmode=${isInt64 ? 'numeric' : undefined} value=${value ?? ''} />
  <//>`;
}

function capitalise(label) {
  return label[0].toUpperCase() + label.slice(1);
}

function DeleteDialog({ pet, onClose }) {
  function finish() {
    notify(`The animal ${pet.id} is deleted.`);
    goTo(['animals']);
  }
  return html`<${ActDialog}
    title=${`Delete the animal ${pet.id}?`}
    label=${`Delete ${pet.id}`}
    isDangerous
    act=${() => callApi('DELETE', `/pets/${pet.id}`)}
    onDone=${finish}
    onClose=${onClose}
  >
    <p>Its name is <strong class="text">${pet.name}</strong>. This cannot be undone. The number of the animal is never used again.</p>
  <//>`;
}
