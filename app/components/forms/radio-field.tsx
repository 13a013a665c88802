import type { FormField } from "./form";

type RadioFieldProps = {
  field: FormField;
  label: string;
  options: readonly (readonly [value: string, label: string])[];
};

/** The first radio button has the field's HTML id, so that the error summary can link to the field. */
export function RadioField({ field, label, options }: RadioFieldProps) {
  const { id, name, value: chosen, errors, errorId, isFirstError } = field;
  return (
    <fieldset aria-describedby={errors && errorId} className={`mb-5 ${errors ? "border-l-4 border-failure pl-3" : ""}`}>
      <legend className="text-sm font-semibold">{label}</legend>
      {errors && (
        <p id={errorId} className="text-sm font-semibold text-failure">
          {errors.join(" ")}
        </p>
      )}
      <div className="flex flex-wrap gap-x-6">
        {options.map(([value, text], index) => (
          <label key={value} className="flex min-h-11 items-center gap-2">
            <input
              type="radio"
              id={index === 0 ? id : undefined}
              name={name}
              value={value}
              defaultChecked={value === chosen}
              // biome-ignore lint/a11y/noAutofocus: without JavaScript, `autoFocus` makes the browser scroll to the error.
              autoFocus={(index === 0 && isFirstError) || undefined}
              aria-invalid={errors ? true : undefined}
              className="size-5 shrink-0"
            />
            {text}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
