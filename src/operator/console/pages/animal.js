import { Category, petStatuses } from './animals.js';
import { callApi } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { html } from './html.js';
import { notify } from './notices.js';
import { OrderTable } from './orders.js';
import { Choice, Facts, Field, Loaded, PageHead, State } from './parts.js';
import { useResource } from './resource.js';
import { goTo } from './routing.js';

export function Animal({ id }) {
  const animal = useResource(`/pets/${encodeURIComponent(id)}`);
  const dialog = useDialog();
  return html`<${Loaded} resource=${animal}>
    ${({ pet, tag, orders }, now) => {
      const reload = animal.reload;
      const edit = html`<${EditDialog} pet=${pet} tag=${tag} onDone=${reload} />`;
      const remove = html`<${DeleteDialog} pet=${pet} />`;
      return html`<${PageHead} title=${`Animal ${pet.id}`}>
          <button type="button" onClick=${() => dialog.open(edit)}>Edit</button>
          <button type="button" class="danger" onClick=${() => dialog.open(remove)}>Delete</button>
        <//>
        <${Facts}
          facts=${[
            ['Name', html`<span class="text">${pet.name}</span>`],
            ['Category', html`<${Category} ...${pet} />`],
            ['Status', html`<${State} state=${pet.status} />`],
          ]}
        />
        <section aria-labelledby="orders">
          <h2 id="orders">Newest orders</h2>
          <${OrderTable} orders=${orders} now=${now} onChange=${reload} empty="This animal has no orders." />
        </section>
        ${dialog.shown}`;
    }}
  <//>`;
}

function EditDialog({ pet, tag, onClose, onDone }) {
  const act = ({ name = '', categoryId = '', status }) =>
    callApi('PATCH', `/pets/${pet.id}`, {
      tag,
      ...(name !== pet.name && { name }),
      ...(categoryId.trim() !== pet.categoryId && { categoryId: categoryId.trim() }),
      ...(status !== pet.status && { status }),
    });
  function finish() {
    notify(`The animal ${pet.id} is changed.`);
    onDone();
  }
  return html`<${ActDialog} title=${`Edit the animal ${pet.id}`} label="Save" act=${act} onDone=${finish} onClose=${onClose}>
    <${Field} id="edit-name" label="Name">
      <input id="edit-name" name="name" value=${pet.name} maxlength="510" />
    <//>
    <${Field} id="edit-category" label="Category">
      <input id="edit-category" name="categoryId" inputmode="numeric" value=${pet.categoryId} />
    <//>
    <${Choice} id="edit-status" label="Status" name="status" value=${pet.status} choices=${petStatuses} />
  <//>`;
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
