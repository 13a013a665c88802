-- The telephone numbers of clients in international form (E.164), such as +254722123456. Only the site's server decides
-- whether a typed number is possible. After a removal, `phone` is null, so that each `version` has only one value.
create table private.client_phones (
  account_id uuid primary key references auth.users (id) on delete cascade,
  phone text check (phone ~ '^\+[1-9][0-9]{6,14}$'),
  version integer not null default 1
);
alter table private.client_phones enable row level security;

create index client_phones_trgm on private.client_phones using gin (phone extensions.gin_trgm_ops);

create function private.client_phone(account_id uuid) returns text
language sql stable set search_path = '' as $$
  select phone from private.client_phones where client_phones.account_id = client_phone.account_id
$$;

-- Saves a client's telephone number, or removes the number if `phone` is null. Returns "added", "changed" or "removed",
-- or null if the number is the same as before.
create function private.save_phone(account_id uuid, phone text) returns text
language plpgsql volatile set search_path = '' as $$
declare
  old_phone constant text := private.client_phone(account_id);
begin
  if old_phone is not distinct from save_phone.phone then return null; end if;
  insert into private.client_phones as stored (account_id, phone)
  values (save_phone.account_id, save_phone.phone)
  on conflict on constraint client_phones_pkey do update set phone = excluded.phone, version = stored.version + 1;
  return case when save_phone.phone is null then 'removed' when old_phone is null then 'added' else 'changed' end;
end
$$;

-- Saves or removes the caller's telephone number.
create function public.change_phone(phone text) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.reject_if(not private.has_valid_session() or not private.is_client(), 403, 'Log in again to continue.');
  if private.save_phone(auth.uid(), change_phone.phone) is not null then
    perform private.limit_daily_actions(auth.uid(), 'changes of your telephone number', 20);
  end if;
end
$$;

-- Saves or removes a client's telephone number at the desk. The audit log does not contain the number, because audit
-- entries are stored longer than accounts.
create function public.save_client_phone(
  account_id uuid, phone text default null, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('save phone', account_id, phone));
  change text;
begin
  if private.is_repeated_action(key) then return; end if;
  perform private.require_client(save_client_phone.account_id);
  perform private.check_version(expected_version, private.client_phone_version(account_id), 'telephone number');
  change := private.save_phone(account_id, phone);
  if change is null then return; end if;
  perform private.insert_audit_entry(
    actor, 'account save-phone', account_id => save_client_phone.account_id, idempotency_key => key,
    after => jsonb_build_object('number', change)
  );
end
$$;

-- Returns the version of a client's telephone number. The version is 0 if the client has never had a number.
create function private.client_phone_version(account_id uuid) returns integer
language sql stable set search_path = '' as $$
  select coalesce((
    select version from private.client_phones where client_phones.account_id = client_phone_version.account_id
  ), 0)
$$;

-- Returns a LIKE pattern for the digits of a telephone number, or of a part of a number. Removes zeros before the
-- number, and a zero after the calling code. Returns null for other searches, and for fewer than 4 digits.
create function private.phone_pattern(q text) returns text
language sql immutable set search_path = '' as $$
  select '%' || digits || '%'
  from (
    select regexp_replace(
      regexp_replace(replace(normalized, '(0)', ''), '[^0-9]', '', 'g'), '^0*((211|243|250|254|255|256|257)0)?', '\2'
    ) as digits
    from private.search_form(left(q, 64)) as normalized
    where normalized !~ '[^0-9+()./\s-]'
  ) as typed
  where char_length(digits) >= 4
$$;

grant execute on function public.change_phone to authenticated;
grant execute on function public.save_client_phone to authenticated, service_role;
