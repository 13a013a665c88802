type Field = HTMLInputElement & HTMLTextAreaElement;

const findFields = () => [...document.querySelectorAll<Field>("input,textarea,select")];

/**
 * Returns a function that copies everything that the visitor entered into the page's new fields. React replaces all
 * fields if hydration fails, because a translator, an extension or a proxy has changed the server's HTML.
 */
export function rememberFields(): () => void {
  const oldFields = findFields();
  let focused: EventTarget | null = document.activeElement;
  addEventListener("focusin", ({ target }) => {
    focused = target;
  });
  for (const field of oldFields) {
    // Hydration resets the value of a textarea to the default value, unless the default value has changed.
    if (field.cols) field.defaultValue = field.value;
  }
  return () => {
    const newFields = findFields();
    for (const old of oldFields) {
      const { id, name, form, type, value, checked, files } = old;
      const field = newFields.find(
        (each) =>
          each.id === id &&
          each.name === name &&
          each.form?.id === form?.id &&
          (type !== "checkbox" || each.value === value),
      );
      if (!field || old.isConnected) continue;
      Object.assign(field, files ? { files } : { value, checked });
      if (focused === old) field.focus();
      field.dispatchEvent(new Event("change", { bubbles: true }));
    }
  };
}
