type Field = HTMLInputElement & HTMLTextAreaElement;

const findFields = () => [...document.querySelectorAll<Field>("input,textarea,select")];

/** Returns a function that copies typed values into the new fields after a failed hydration has replaced all fields. */
export function rememberFields(): () => void {
  const oldFields = findFields().map((old) => ({ old, text: old.value }));
  let focused: EventTarget | null = document.activeElement;
  addEventListener("focusin", ({ target }) => {
    focused = target;
  });
  return () => {
    const newFields = findFields();
    for (const { old, text } of oldFields) {
      const { id, name, form, type, checked, files } = old;
      const value = old.tagName === "TEXTAREA" && old.value === old.defaultValue ? text : old.value;
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
