-- Text of one line, where a client's own token can write it past the forms: no control characters, no separators of
-- lines, and nothing that turns the direction of the text after it. app/models/text.ts has the same rule.

update public.shipments
set name = coalesce(
  nullif(btrim(regexp_replace(name, '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+', ' ', 'g')), ''),
  'Shipment'
)
where name ~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]';

alter table public.shipments
  add constraint shipments_name_is_one_line check (name !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]');

-- The name of an account lies in auth's table. One from before this rule stays until it is changed.
create function private.check_full_name() returns trigger
language plpgsql
set search_path = ''
as $$
declare
  name text := new.raw_user_meta_data ->> 'full_name';
begin
  if char_length(name) > 100 or name ~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]' then
    raise exception 'the full name in the user''s metadata is not one line of at most 100 characters'
      using errcode = 'check_violation';
  end if;
  return new;
end
$$;
revoke all on function private.check_full_name() from public, anon, authenticated;

create trigger check_new_full_name
before insert on auth.users
for each row execute function private.check_full_name();

create trigger check_changed_full_name
before update of raw_user_meta_data on auth.users
for each row
when (new.raw_user_meta_data ->> 'full_name' is distinct from old.raw_user_meta_data ->> 'full_name')
execute function private.check_full_name();
