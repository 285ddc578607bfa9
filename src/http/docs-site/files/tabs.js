/* Remembers the language of the samples from page to page. */
const languageName = 'animal-store-language';

function readLanguage() {
  try {
    return localStorage.getItem(languageName);
  } catch {
    return null;
  }
}

const known = readLanguage();
for (const input of document.querySelectorAll('input[name="language"]')) {
  if (input.value === known) input.checked = true;
  input.addEventListener('change', () => {
    try {
      localStorage.setItem(languageName, input.value);
    } catch {
      // This browser has no storage. The choice holds for this page.
    }
  });
}
